"""The reliability campaign: the tests of this repository, for hours, with new seeds each round."""
