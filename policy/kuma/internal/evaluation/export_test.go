package evaluation

// Applying is what the tests hold against package selection.
var Applying = applying
