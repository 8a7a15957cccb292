package resource

import "github.com/meshproof/meshproof/internal/kri"

// IsGlobal reports whether the resource is of a global control plane, and so of no zone: its label says so, or it is
// a service of several zones, which is made nowhere else.
func (r Resource) IsGlobal() bool {
	return r.ID.Zone == "" && (r.Labels[LabelOrigin] == OriginGlobal || r.ID.Type == kri.MeshMultiZoneService)
}

// MayName reports whether a reference by name in the resource may mean another one, by their zones. As in Kuma, a
// name means what is of the same zone, and from what is of no zone it means what is of none. One that states neither
// a zone nor that it is global is of the zone of its control plane, which nobody knows here.
func (r Resource) MayName(other Resource) bool {
	known := (r.ID.Zone != "" || r.IsGlobal()) && (other.ID.Zone != "" || other.IsGlobal())
	return !known || r.ID.Zone == other.ID.Zone
}

// MayNameDataplane is [Resource.MayName] for a Dataplane, which is always of a zone. It may state none.
func (r Resource) MayNameDataplane(zone string) bool {
	return !r.IsGlobal() && (r.ID.Zone == "" || zone == "" || r.ID.Zone == zone)
}
