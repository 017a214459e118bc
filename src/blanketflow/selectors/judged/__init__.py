"""What `auto` is made of: rankings, sets of several sizes, and what models say of them on rows held out."""
