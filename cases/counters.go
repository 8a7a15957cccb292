package cases

// Counters states by how much the RBAC counters of one inbound must move. A counter
// that is nil is not stated.
type Counters struct {
	// Inbound is the inbound's name, "workload/section".
	Inbound       string
	Allowed       *uint64
	Denied        *uint64
	ShadowAllowed *uint64
	ShadowDenied  *uint64
}

func (b *builder) addCounters() error {
	for _, name := range sortedKeys(b.schema.Counters) {
		doc := b.schema.Counters[name]
		var s countersSchema
		if err := doc.Decode(&s); err != nil {
			return err
		}
		if s == (countersSchema{}) {
			return doc.Errorf("", "no counter is stated: use allowed, denied, shadow_allowed, shadow_denied")
		}
		in, err := b.inbound(doc, "", name)
		if err != nil {
			return err
		}
		b.out.Counters = append(b.out.Counters, Counters{
			Inbound: in.String(), Allowed: s.Allowed, Denied: s.Denied, ShadowAllowed: s.ShadowAllowed, ShadowDenied: s.ShadowDenied,
		})
	}
	return nil
}
