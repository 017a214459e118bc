"""The workflow around the methods: the plan, its jobs and stages, and the collected results."""
