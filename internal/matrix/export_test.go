package matrix

// NotesOf says what was asked of a compiler.
var NotesOf = notesOf

// AskFewerRelatedSets lets the runs of tests ask about a part of the sets. TestRelatedSetsHaveEachRelation looks at all.
func AskFewerRelatedSets() { askedRelated, askedUpdated = 80, 24 }
