package static

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

// The text on a shard's colour can be read, and a pattern on it be seen, in both themes: WCAG asks for 4.5 and 3.
func TestShardColoursCarryTextAndPatterns(t *testing.T) {
	css := string(built().read("css/theme.css"))
	light, dark, _ := strings.Cut(css, "@media (prefers-color-scheme: dark)")
	opacity, err := strconv.ParseFloat(regexp.MustCompile(`stroke-opacity: ([.\d]+)`).
		FindStringSubmatch(string(built().read("css/shard_patterns.css")))[1], 64)
	must.Do(t, err)
	value := func(of, name string) (rgb [3]float64, ok bool) {
		m := regexp.MustCompile(`--` + name + `: #([0-9a-f]+)`).FindStringSubmatch(of)
		if m == nil {
			return rgb, false
		}
		hex := m[1]
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		for i := range rgb {
			n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			rgb[i] = float64(n)
		}
		return rgb, true
	}
	for theme, first := range map[string]string{"light": light, "dark": dark} {
		for n := 1; n <= 12; n++ {
			color, found := value(first, fmt.Sprintf("s%d", n))
			if !found {
				color, _ = value(light, fmt.Sprintf("s%d", n))
			}
			text, found := value(first, fmt.Sprintf("t%d", n))
			if !found {
				text, _ = value(light, fmt.Sprintf("t%d", n))
			}
			var lines [3]float64
			for i := range lines {
				lines[i] = color[i]*(1-opacity) + text[i]*opacity
			}
			if c := contrast(color, text); c < 4.5 {
				t.Errorf("%s: text on s%d has a contrast of %.2f", theme, n, c)
			}
			if c := contrast(color, lines); c < 3 {
				t.Errorf("%s: a pattern on s%d has a contrast of %.2f", theme, n, c)
			}
		}
	}
}

// Every pattern is known to the style sheet in every colour.
func TestEveryPatternHasItsFill(t *testing.T) {
	css := string(built().allStyles())
	for p := 1; p <= 8; p++ {
		if label := fmt.Sprintf(".sh.p%d {", p); !strings.Contains(css, label) {
			t.Errorf("%s is missing", label)
		}
		for n := 1; n <= 12; n++ {
			if fill := fmt.Sprintf(".p%d.s%d { --f: url(#p%ds%d) var(--c); }", p, n, p, n); !strings.Contains(css, fill) {
				t.Errorf("%s is missing", fill)
			}
		}
	}
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is WCAG's relative luminance of an sRGB colour.
func luminance(rgb [3]float64) float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb[0]) + 0.7152*linear(rgb[1]) + 0.0722*linear(rgb[2])
}
