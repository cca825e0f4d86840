"""What offering a part of many tools saves and costs: tokens, the right tool, the extra step."""
