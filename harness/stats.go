package harness

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/xds"
)

// counterKey names a filter of an inbound by its stat prefix and its place.
type counterKey struct {
	stat  string
	place xds.FilterPlace
}

// readCounters reads the RBAC counters of the inbounds in one go and returns what those
// of each filter moved by since they were last read; filters whose counters did not move
// are left out. Envoy moves the counters before it answers, so that they are complete once
// the callers have their answers.
func (m *Mesh) readCounters(ctx context.Context, inbounds []int) (map[string][]evidence.FilterCounters, error) {
	called := slices.Clone(inbounds)
	slices.Sort(called)
	called = slices.Compact(called)
	if len(called) == 0 {
		return nil, nil
	}
	stats, asked := make([]string, len(called)), map[string]bool{}
	for i, inbound := range called {
		stats[i] = m.stat(inbound)
		asked[stats[i]] = true
	}
	// Envoy leaves out a counter that never moved: it reads as zero.
	page, err := m.harness.envoy.AdminGet(ctx, "/stats?usedonly&type=Counters&filter="+url.QueryEscape(controlplane.CounterNames(stats...)))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	now, err := parseCounters(string(page))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	since := map[string]uint64{}
	for name, value := range now {
		since[name] = value - m.counters[name]
	}
	// What Envoy has forgotten begins at zero where it comes back.
	maps.DeleteFunc(m.counters, func(name string, _ uint64) bool {
		stat, _, _, _ := controlplane.ParseCounter(name)
		return asked[stat]
	})
	maps.Copy(m.counters, now)
	counted := countFilters(since)
	moved := make(map[string][]evidence.FilterCounters, len(called))
	for i, inbound := range called {
		in := m.inbounds[inbound]
		moved[in.Name] = nil
		for _, place := range in.Filters.Places() {
			if c := counted[counterKey{stats[i], place}]; c != (evidence.FilterCounters{}) && c != (evidence.FilterCounters{FilterPlace: place}) {
				moved[in.Name] = append(moved[in.Name], c)
			}
		}
	}
	return moved, nil
}

// parseCounters reads lines like "http.mesh1_inbound0.rbac.denied: 3".
func parseCounters(page string) (map[string]uint64, error) {
	all := map[string]uint64{}
	for line := range strings.Lines(page) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		value, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("counter %q is %q: %w", name, digits, err)
		}
		all[name] = value
	}
	return all, nil
}

// countFilters adds up counters by filter.
func countFilters(counters map[string]uint64) map[counterKey]evidence.FilterCounters {
	all := map[counterKey]evidence.FilterCounters{}
	for name, value := range counters {
		stat, place, counter, ok := controlplane.ParseCounter(name)
		if !ok {
			continue
		}
		key := counterKey{stat, place}
		c := all[key]
		c.FilterPlace = place
		switch counter {
		case "allowed":
			c.Allowed += value
		case "denied":
			c.Denied += value
		case "logged":
			c.Logged += value
		case "shadow_allowed":
			c.ShadowAllowed += value
		case "shadow_denied":
			c.ShadowDenied += value
		}
		all[key] = c
	}
	return all
}
