package browsertest

import (
	"image/color"
	"strings"
	"testing"
)

// Expect fails the test for each wanted text that a document has not, and each unwanted
// one that it has.
func Expect(t testing.TB, document string, want, lack []string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(document, text) {
			t.Errorf("want %s in\n%s", text, document)
		}
	}
	for _, text := range lack {
		if strings.Contains(document, text) {
			t.Errorf("there must be no %s in\n%s", text, document)
		}
	}
}

// Colours fails the test unless a page has the background of the scheme that its reader
// prefers, which it has only where its policy lets in its style.
func Colours(t *testing.T, url string) {
	t.Helper()
	for name, tt := range map[string]struct {
		scheme Scheme
		want   color.RGBA
	}{
		"dark":  {Dark, color.RGBA{0x0d, 0x11, 0x17, 0xff}},
		"light": {Light, color.RGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := Screenshot(t, url, tt.scheme, "1280", "800")
			if got := color.RGBAModel.Convert(picture.At(1, 790)); got != tt.want {
				t.Errorf("the page is %v, want %v", got, tt.want)
			}
		})
	}
}
