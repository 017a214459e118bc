"""The calibration study: samples with a known truth, the tests that are asked, and the page that says how they did."""
