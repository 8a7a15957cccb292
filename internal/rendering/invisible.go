package rendering

import (
	"strconv"
	"strings"
	"unicode"
)

// prose are the fields that people write for people: nothing compares them.
var prose = []string{"metadata.annotations", "metadata.managedFields", "status", "spec.description"}

// fillers are letters that have no shape.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
	{Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}}

// invisibleIn returns a text that is compared, in quotes and with its escapes, where it has a character that nobody sees: one of no
// width, a space of another width, or a mark of direction; "" where it has none.
func invisibleIn(path, text string) string {
	for _, field := range prose {
		if strings.HasPrefix(path, field) || strings.HasPrefix(path, "specs[") && strings.HasSuffix(path, "].description") {
			return ""
		}
	}
	if strings.ContainsFunc(text, func(c rune) bool {
		return c > unicode.MaxASCII && (unicode.In(c, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cc, fillers) || !unicode.IsGraphic(c))
	}) {
		return strconv.QuoteToASCII(text)
	}
	return ""
}
