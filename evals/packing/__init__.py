"""What packing is worth over long runs (B3, C8): strategies and peers on the same tasks, at equal budgets."""
