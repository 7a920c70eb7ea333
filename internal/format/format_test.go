package format

import (
	"math"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// plain makes thin spaces readable in expectations.
func plain(s string) string { return strings.ReplaceAll(s, thin, " ") }

func TestCountGroupsByThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1 000", 12345: "12 345", 1234567: "1 234 567", -1: "−1", -12345: "−12 345",
		math.MaxInt64: "9 223 372 036 854 775 807", math.MinInt64: "−9 223 372 036 854 775 808",
	} {
		expect.Equal(t, plain(Count(n)), want, "Count(%d)", n)
	}
}

func TestBytesHaveThreeDigitsAndAnIECUnit(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 10 << 10: "10.0 KiB", 100 << 10: "100 KiB",
		1 << 20: "1.00 MiB", 1<<20 - 1: "1.00 MiB", 64 << 20: "64.0 MiB", 1331439862: "1.24 GiB", 1 << 40: "1.00 TiB",
		math.MaxInt64: "8.00 EiB", -2048: "−2.00 KiB", math.MinInt64: "−8.00 EiB",
	} {
		expect.Equal(t, plain(Bytes(n)), want, "Bytes(%d)", n)
	}
}

func TestShareNeverRoundsSomethingToNothingOrEverything(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0 %", 0.0004: "< 0.1 %", 0.001: "0.1 %", 0.0456: "4.6 %", 0.0994: "9.9 %", 0.0997: "10 %", 0.333: "33 %",
		0.994: "99 %", 0.9996: "99.9 %", 1: "100 %", 1.07: "107 %", -1: Unknown,
	} {
		expect.Equal(t, plain(Share(f)), want, "Share(%v)", f)
	}
	expect.Equal(t, Share(math.NaN()), Unknown, "Share(NaN)")
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
		expect.Equal(t, got, c.want, "Middle(%q, %d)", c.in, c.n)
	}
}

func TestVersionIsMajorBarMinor(t *testing.T) {
	if got := Version(4294967295, 0); got != "4294967295|0" {
		t.Error(got)
	}
}
