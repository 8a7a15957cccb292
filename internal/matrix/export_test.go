package matrix

// AskFewerRelatedSets lets the runs of short tests ask about a part of the sets.
func AskFewerRelatedSets() { askedRelated = 80 }
