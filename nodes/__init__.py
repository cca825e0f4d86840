"""The eight nodes of the loop, one file or folder each. They never import each other."""
