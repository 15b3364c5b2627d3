"""Rules of natural bidding (Standard American): what every call promises, for choosing and for understanding."""
