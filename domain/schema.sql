CREATE TABLE plans (
  plan TEXT PRIMARY KEY,
  requests_per_minute INTEGER NOT NULL,
  burst INTEGER NOT NULL,
  requests_per_month INTEGER NOT NULL,
  keys_at_most INTEGER NOT NULL
);

CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  display_name TEXT NOT NULL,
  plan TEXT NOT NULL REFERENCES plans,
  standing TEXT NOT NULL CHECK (standing IN ('good', 'overdue', 'suspended')),
  requests_this_month INTEGER NOT NULL,
  created_at TEXT NOT NULL
);

CREATE TABLE people (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('customer', 'admin', 'agent', 'supervisor')),
  account_id TEXT REFERENCES accounts,
  locale TEXT NOT NULL,
  CHECK ((role IN ('agent', 'supervisor')) = (account_id IS NULL))
);

CREATE TABLE api_keys (
  key_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts,
  label TEXT NOT NULL,
  value TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'revoked', 'expired', 'rate_limited', 'disabled', 'pending')),
  reason TEXT,
  in_use INTEGER NOT NULL CHECK (in_use IN (0, 1)),
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  expires_at TEXT,
  replaced_by TEXT REFERENCES api_keys,
  deleted_at TEXT
);

CREATE UNIQUE INDEX one_key_in_use ON api_keys (account_id) WHERE in_use = 1;

CREATE TABLE rotations (
  idempotency_key TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL REFERENCES api_keys,
  new_key_id TEXT NOT NULL REFERENCES api_keys,
  rotated_at TEXT NOT NULL
);

CREATE TABLE deletions (
  idempotency_key TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL UNIQUE REFERENCES api_keys,
  deleted_at TEXT NOT NULL
);

CREATE TABLE incidents (
  incident_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  component TEXT NOT NULL CHECK (component IN ('api', 'webhooks', 'dashboard', 'billing')),
  status TEXT NOT NULL CHECK (status IN ('investigating', 'monitoring', 'resolved')),
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  started_at TEXT NOT NULL,
  resolved_at TEXT
);

CREATE TABLE tickets (
  ticket_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts,
  opened_by TEXT NOT NULL REFERENCES people (name),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
  objective TEXT NOT NULL,
  tried TEXT NOT NULL,
  opened_at TEXT NOT NULL
);

CREATE TABLE ticket_notes (
  note_id INTEGER PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets,
  tenant TEXT NOT NULL,
  written_by TEXT NOT NULL REFERENCES people (name),
  note TEXT NOT NULL,
  written_at TEXT NOT NULL,
  idempotency_key TEXT UNIQUE
);

CREATE TABLE credits (
  idempotency_key TEXT PRIMARY KEY,
  credit_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts,
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL,
  issued_by TEXT NOT NULL REFERENCES people (name),
  approved_by TEXT REFERENCES people (name),
  issued_at TEXT NOT NULL
);

CREATE TABLE seeding (seeded_at TEXT NOT NULL);
