"""Plans with their limits, accounts, and the people who may sign in."""

# plan, requests per minute, burst, requests per month, keys at most
PLANS = (
    ("starter", 60, 90, 100_000, 5),
    ("pro", 600, 900, 2_000_000, 10),
    ("enterprise", 6000, 9000, 50_000_000, 50),
)

# account, tenant, display name, plan, standing, requests this month, age in days
ACCOUNTS = (
    ("A-123", "acme", "Acme storefront", "pro", "good", 412_000, 420),
    ("A-124", "acme", "Acme data platform", "pro", "good", 1_630_500, 800),
    ("A-125", "acme", "Acme prototypes", "starter", "overdue", 99_980, 90),
    ("A-126", "acme", "Acme field service", "enterprise", "good", 8_204_110, 1500),
    ("A-201", "globex", "Globex logística", "enterprise", "good", 31_870_400, 1100),
    ("A-202", "globex", "Globex research", "pro", "good", 240_000, 510),
    ("A-203", "globex", "Globex events", "starter", "suspended", 100_000, 60),
    ("A-204", "globex", "Globex almacenes", "pro", "good", 905_300, 300),
    ("A-301", "maravel", "Maravel taquilla", "pro", "good", 1_204_900, 640),
    ("A-302", "maravel", "Maravel abonos", "pro", "good", 388_000, 275),
    ("A-303", "maravel", "Maravel giras", "starter", "good", 12_400, 45),
    ("A-304", "maravel", "Maravel archivo", "starter", "overdue", 3_100, 700),
)

# name, tenant, role, account, locale; the first is the default principal of a development server.
# Agents and supervisors work for the support desk of their tenant and hold no account of their own.
PEOPLE = (
    ("ana@acme", "acme", "customer", "A-123", "en"),
    ("bea@acme", "acme", "admin", "A-124", "en"),
    ("ines@globex", "globex", "customer", "A-201", "es"),
    ("omar@globex", "globex", "admin", "A-202", "en"),
    ("pau@maravel", "maravel", "customer", "A-301", "es"),
    ("alma@maravel", "maravel", "admin", "A-302", "es"),
    ("leo@acme", "acme", "agent", None, "en"),
    ("vera@acme", "acme", "supervisor", None, "en"),
    ("noor@globex", "globex", "agent", None, "en"),
    ("ivo@globex", "globex", "supervisor", None, "en"),
    ("gael@maravel", "maravel", "agent", None, "es"),
    ("rita@maravel", "maravel", "supervisor", None, "es"),
)
