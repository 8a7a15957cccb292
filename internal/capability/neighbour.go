package capability

import "github.com/meshproof/meshproof/policy/language"

// Neighbour is a set of policies that may let in callers who are no accounts of the own mesh: those of other meshes, and
// workloads outside of any mesh. A pattern of names may be wider than the names of the own mesh. In the lab all callers
// are of the own mesh.
type Neighbour interface {
	// Foreigners are callers that the names in the policies may tell apart, the nearest first.
	Foreigners() []Foreigner
	// ForeignTo returns the policies as such a caller meets them: the names and the accounts of the own mesh are those of
	// nobody. Only programs may be asked of the result.
	ForeignTo(of Foreigner) language.Policies
}

// Foreigner is a caller by its name: an account of the mesh of a domain, or somebody whose whole name it is.
type Foreigner struct {
	Name      string
	WholeName bool
}

// String says what names such a caller has.
func (f Foreigner) String() string {
	if f.WholeName {
		return "the name " + f.Name
	}
	return "names such as those that end in " + f.Name
}
