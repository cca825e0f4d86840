"""Whether a server answers at an address: one question without a key, over the proxy that the environment names."""

from ssl import SSLError
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen


def unreachable(url: str, patience_s: float) -> str:
    """Why no server answers at an http address; empty where one does, whatever it says."""
    parts = urlsplit(url)
    # A name and a password in the address are for whoever asks something, not for a look.
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    asked = Request(plain, method="HEAD")  # noqa: S310  # the settings take http and https only
    try:
        with urlopen(asked, timeout=patience_s):  # noqa: S310  # as above
            return ""
    except HTTPError as refused:
        refused.close()
        return ""
    except URLError as error:
        # A certificate that this look does not trust is still a server's; the model's client has its own store.
        return "" if isinstance(error.reason, SSLError) else _said(error.reason)
    except (OSError, ValueError) as error:
        return _said(error)


def _said(reason: object) -> str:
    return str(getattr(reason, "strerror", None) or reason) or type(reason).__name__
