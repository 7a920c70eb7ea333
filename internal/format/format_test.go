package format

import (
	"math"
	"strings"
	"testing"
)

// plain makes thin spaces readable in expectations.
func plain(s string) string { return strings.ReplaceAll(s, thin, " ") }

func TestCountGroupsByThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1 000", 12345: "12 345", 1234567: "1 234 567", -1: "−1", -12345: "−12 345",
		math.MaxInt64: "9 223 372 036 854 775 807", math.MinInt64: "−9 223 372 036 854 775 808",
	} {
		if got := plain(Count(n)); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBytesHaveThreeDigitsAndAnIECUnit(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 10 << 10: "10.0 KiB", 100 << 10: "100 KiB",
		1 << 20: "1.00 MiB", 1<<20 - 1: "1.00 MiB", 64 << 20: "64.0 MiB", 1331439862: "1.24 GiB", 1 << 40: "1.00 TiB",
		math.MaxInt64: "8.00 EiB", -2048: "−2.00 KiB", math.MinInt64: "−8.00 EiB",
	} {
		if got := plain(Bytes(n)); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShareNeverRoundsSomethingToNothingOrEverything(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0 %", 0.0004: "< 0.1 %", 0.001: "0.1 %", 0.0456: "4.6 %", 0.0994: "9.9 %", 0.0997: "10 %", 0.333: "33 %",
		0.994: "99 %", 0.9996: "99.9 %", 1: "100 %", 1.07: "107 %", -1: Unknown,
	} {
		if got := plain(Share(f)); got != want {
			t.Errorf("Share(%v) = %q, want %q", f, got, want)
		}
	}
	if got := Share(math.NaN()); got != Unknown {
		t.Errorf("Share(NaN) = %q", got)
	}
}

func TestMiddleKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"0123456789", 10, "0123456789"}, {"0123456789a", 10, "01234…789a"}, {"ä€😀ö𝄞ü", 4, "ä€…ü"}, {"", 3, ""},
	} {
		got := Middle(c.in, c.n)
		if got != c.want {
			t.Errorf("Middle(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestVersionIsMajorBarMinor(t *testing.T) {
	if got := Version(4294967295, 0); got != "4294967295|0" {
		t.Error(got)
	}
}
