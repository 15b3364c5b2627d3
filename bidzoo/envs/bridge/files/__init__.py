"""Files of deals, boards and auctions: PBN, LIN, deal files, recorded auctions."""
