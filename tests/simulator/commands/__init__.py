"""Commands of the package that look at streams of the local Kinesis, or change them."""
