package policy

// LayerOf returns the lowest layer on which a condition can be judged.
func LayerOf(c Condition) Layer { return layerOf(c) }

// ErrPathRejected is the reason of each refusal of a path.
var ErrPathRejected = errPathRejected
