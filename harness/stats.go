package harness

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/harness/evidence"
)

// readCounters reads the RBAC counters of the inbounds in one go and returns what
// they moved by since they were last read. Envoy moves them before it answers, so
// that they are complete once the callers have their answers.
func (m *Mesh) readCounters(ctx context.Context, inbounds []int) (map[string]evidence.Counters, error) {
	called := slices.Clone(inbounds)
	slices.Sort(called)
	called = slices.Compact(called)
	if len(called) == 0 {
		return nil, nil
	}
	stats := make([]string, len(called))
	for i, at := range called {
		stats[i] = regexp.QuoteMeta(m.stat(at))
	}
	filter := `^(http\.)?(` + strings.Join(stats, "|") + `)\.rbac\.(shadow_)?(allowed|denied)$`
	// A counter that never moved is left out, and reads as zero.
	page, err := m.harness.envoy.AdminGet(ctx, "/stats?usedonly&type=Counters&filter="+url.QueryEscape(filter))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	now, err := parseCounters(string(page))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	moved := make(map[string]evidence.Counters, len(called))
	for _, at := range called {
		stat, name := m.stat(at), m.inbounds[at].Name
		moved[name] = now[stat].Sub(m.counters[stat])
		m.counters[stat] = now[stat]
	}
	return moved, nil
}

// parseCounters reads lines like "http.mesh1_inbound0.rbac.denied: 3" and adds up
// the filters of one inbound.
func parseCounters(page string) (map[string]evidence.Counters, error) {
	all := map[string]evidence.Counters{}
	for line := range strings.Lines(page) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		value, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("counter %q is %q: %w", name, digits, err)
		}
		stat, counter, _ := strings.Cut(strings.TrimPrefix(name, "http."), ".rbac.")
		c := all[stat]
		switch counter {
		case "allowed":
			c.Allowed += value
		case "denied":
			c.Denied += value
		case "shadow_allowed":
			c.ShadowAllowed += value
		case "shadow_denied":
			c.ShadowDenied += value
		}
		all[stat] = c
	}
	return all, nil
}
