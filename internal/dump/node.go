package dump

// Node is how an Envoy names itself to its control plane, as a bootstrap has it.
type Node struct {
	// ID is empty where the bootstrap has none.
	ID string
	// Metadata is what the control plane of the node gave it to say.
	Metadata map[string]any
}

// nodeOf returns the node of a bootstrap.
func nodeOf(bootstrap object) Node {
	node := getObject(bootstrap, "node")
	return Node{getString(node, "id"), getObject(node, "metadata")}
}
