CREATE TABLE users (
  user_id TEXT PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT NOT NULL,
  address1 TEXT NOT NULL, address2 TEXT NOT NULL, city TEXT NOT NULL, state TEXT NOT NULL, country TEXT NOT NULL,
  zip TEXT NOT NULL
) STRICT;
CREATE TABLE payment_methods (
  payment_method_id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, source TEXT NOT NULL, balance REAL
) STRICT;
CREATE TABLE variants (
  item_id TEXT PRIMARY KEY, product_id TEXT NOT NULL, name TEXT NOT NULL, options TEXT NOT NULL,
  available INTEGER NOT NULL, price REAL NOT NULL
) STRICT;
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, status TEXT NOT NULL,
  address1 TEXT NOT NULL, address2 TEXT NOT NULL, city TEXT NOT NULL, state TEXT NOT NULL, country TEXT NOT NULL,
  zip TEXT NOT NULL, cancel_reason TEXT
) STRICT;
CREATE TABLE order_items (
  order_id TEXT NOT NULL REFERENCES orders, position INTEGER NOT NULL, item_id TEXT NOT NULL, product_id TEXT NOT NULL,
  name TEXT NOT NULL, price REAL NOT NULL, options TEXT NOT NULL, PRIMARY KEY (order_id, position)
) STRICT;
CREATE TABLE payments (
  order_id TEXT NOT NULL REFERENCES orders, position INTEGER NOT NULL, kind TEXT NOT NULL, amount REAL NOT NULL,
  payment_method_id TEXT NOT NULL, PRIMARY KEY (order_id, position)
) STRICT;
CREATE TABLE requests (
  order_id TEXT PRIMARY KEY REFERENCES orders, kind TEXT NOT NULL, item_ids TEXT NOT NULL, new_item_ids TEXT,
  payment_method_id TEXT NOT NULL, price_difference REAL
) STRICT;
