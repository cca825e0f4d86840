"""The access rule in one place: the stores filter by it, and every hit is checked against it again (L3, H08)."""

from datetime import UTC, datetime, timedelta

from state.context import DropReason
from state.run import PUBLIC_TENANT, Access
from state.search import AccessUnknown
from state.value import Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALWAYS = _EPOCH  # when a document without effective_from began
EVERYONE = "everyone"  # the reader of a document without acl; no group can be called so, groups carry a prefix


def microseconds(moment: datetime) -> int:
    """Whole microseconds since 1970 in UTC: what the stores compare, exactly and without time zones."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(value_us: int) -> datetime:
    """The aware UTC time of a count of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=value_us)


FOREVER_US = microseconds(datetime.max.replace(tzinfo=UTC))


class Window(Value):
    """When a document version is in force: from `from_us`, until `until_us` exclusive, in microseconds since 1970.

    `until_us` is the earlier of its own end and of the moment its successor begins; `replaced` says which.
    """

    from_us: int
    until_us: int = FOREVER_US
    replaced: bool = False

    def out_of_force(self, now_us: int) -> DropReason | None:
        """Why the version is not in force at a moment; None when it is (H13)."""
        if now_us >= self.until_us:
            return DropReason.SUPERSEDED if self.replaced else DropReason.NO_LONGER_EFFECTIVE
        return DropReason.NOT_YET_EFFECTIVE if now_us < self.from_us else None


def known_groups(access: Access) -> tuple[str, ...]:
    """The caller's groups. Raises AccessUnknown when they are None: an unknown identity may not search at all."""
    if access.groups is None:
        raise AccessUnknown(
            f"the groups of a principal of tenant {access.tenant!r} are unknown (got None, a list is needed, "
            "[] for no groups): nothing was searched; let the domain's principal() return the groups"
        )
    return access.groups


def tenants(access: Access) -> tuple[str, ...]:
    """The tenants whose documents an access reaches: its own, and the public one."""
    return (access.tenant,) if access.tenant == PUBLIC_TENANT else (access.tenant, PUBLIC_TENANT)


def readers_of(acl: tuple[str, ...]) -> list[str]:
    """The readers to store with a document: an empty acl means everyone of its tenant."""
    return [f"group:{group}" for group in acl] or [EVERYONE]


def readers_matching(access: Access) -> list[str]:
    """The readers that an access stands for. Never empty, so that a filter made of it never is (H08)."""
    return [EVERYONE, *(f"group:{group}" for group in sorted(set(known_groups(access))))]


def admits(access: Access, tenant: str, acl: tuple[str, ...], product: str) -> bool:
    """Whether an access may see a document at all, at any time."""
    groups = known_groups(access)
    return (
        tenant in tenants(access)
        and (not acl or not set(acl).isdisjoint(groups))
        and (not access.products or not product or product in access.products)
    )
