package matrix

// NotesOf says what was asked of a compiler.
var NotesOf = notesOf

// AskFewerRelatedSets lets the runs of tests ask about a part of the sets. TestRelatedSetsHaveEachRelation and TestRunRenamesEachCase look at all.
func AskFewerRelatedSets() { askedRenamed, askedRelated, askedUpdated = 20, 80, 24 }
