package pin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// baseline is a platform tag that counts upwards: in the version of glibc (PEP 600), or of macOS.
var baseline = regexp.MustCompile(`^(manylinux_2_|macosx_)(\d+)(_.+)$`)

// laterBaselines is how far above the pinned one a newer release's baseline is looked for. glibc and macOS count one or
// two a year.
const laterBaselines = 20

// tags are the platform tags under which a release for the platform may be found: the tag of the newest pinned wheel,
// then the same platform with older and with newer baselines, for pip takes a tag literally and a newer release may have
// moved on.
func (c catalog) tags(platform string) []string {
	w := c.Releases[c.versions(platform)[0]][platform]
	// name-version-python-abi-platforms.whl
	name := strings.TrimSuffix(w.Wheel, ".whl")
	out := strings.Split(name[strings.LastIndexByte(name, '-')+1:], ".")
	for _, tag := range out {
		m := baseline.FindStringSubmatch(tag)
		if m == nil {
			continue
		}
		at, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		for n := at - 1; n > 0; n-- {
			out = append(out, fmt.Sprint(m[1], n, m[3]))
		}
		for n := range laterBaselines {
			out = append(out, fmt.Sprint(m[1], at+1+n, m[3]))
		}
	}
	return out
}
