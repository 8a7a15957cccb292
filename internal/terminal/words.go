package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Printable quotes a text that would steer a terminal.
func Printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Abridge cuts a text to what a line of a terminal takes.
func Abridge(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Count is a number with a noun whose plural ends in s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural is a number with a noun in its singular or its plural.
func Plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Quote makes one word of s for a POSIX shell.
func Quote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-") == "" && s != ""
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
