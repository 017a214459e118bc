"""What the benchmarks share: how they measure, what they write, and how docs/performance.md is made of it."""
