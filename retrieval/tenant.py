"""A tenant's name as the name of a collection or file: readable, safe, and never shared by two tenants."""

import re
from hashlib import sha256


def place_name(tenant: str) -> str:
    """`acme` gives `acme-…` with 16 hex digits of the name's hash: 18–57 characters of [a-z0-9-].

    The hash keeps `Acme`, `acme` and `a/cme` apart, also where file names ignore case.
    Raises ValueError for an empty name.
    """
    if not tenant:
        raise ValueError("a tenant's name is empty; give the tenant as the principal or the front matter names it")
    slug = re.sub(r"[^a-z0-9]+", "-", tenant.lower()).strip("-")[:40].strip("-")
    return f"{slug or 'tenant'}-{sha256(tenant.encode()).hexdigest()[:16]}"
