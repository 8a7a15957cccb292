package capability

// Layered is a dialect that one control plane alone enforces. Its policies may stand beside those of another layer: a request has
// to pass both.
type Layered interface {
	// Layer says which of the layers its policies are.
	Layer() Layer
}

// Layer is where the policies of a dialect are enforced. The zero value is a mesh that lets everybody in without a policy.
type Layer struct {
	// BesideMesh is true where the policies judge connections, and a mesh may judge the requests in them.
	BesideMesh bool
	// Closed is true where nobody gets in without a policy, so that the last policy may go with the mesh itself.
	Closed bool
}
