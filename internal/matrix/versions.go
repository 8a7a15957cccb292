package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
)

// AllVersions stands for all versions of Envoy that are pinned.
const AllVersions = "all"

// ParseVersions reads versions of Envoy, each once, without the v of Envoy's tags.
// [AllVersions] stands for all that are pinned, the oldest first. A [*StartError] says that
// they could not be listed.
func ParseVersions(names []string) ([]string, error) {
	noVersion := fmt.Errorf("name a version such as %s, or %s", pin.DefaultVersion, AllVersions)
	if len(names) == 0 {
		return nil, noVersion
	}
	if slices.Equal(names, []string{AllVersions}) {
		releases, err := envoy.List()
		if err != nil {
			return nil, &StartError{VersionError{Err: err}}
		}
		var all []string
		for _, r := range slices.Backward(releases) {
			all = append(all, r.Version)
		}
		return all, nil
	}
	var versions []string
	for _, version := range names {
		if digits, tag := strings.CutPrefix(version, "v"); tag && digits != "" && digits[0] >= '0' && digits[0] <= '9' {
			version = digits
		}
		switch {
		case version == "":
			return nil, noVersion
		case version == AllVersions:
			return nil, fmt.Errorf("%s stands alone: it has every version", AllVersions)
		case slices.Contains(versions, version):
			return nil, fmt.Errorf("%s appears twice", version)
		}
		versions = append(versions, version)
	}
	return versions, nil
}
