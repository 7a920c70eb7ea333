package picture

import (
	"encoding/xml"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

func TestBarsAreAsHighAsTheirValuesAndStayInThePicture(t *testing.T) {
	b := Bars{Title: "a < b", X: "deck", Y: "cards", Series: []string{"player 1", "<script>"}, Column: []string{"deck 1", "deck 2"},
		Value: [][]int{{30, 10}, {0, 20}}}
	svg := b.SVG()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(svg, "<script") || !strings.Contains(svg, "<title>a &lt; b</title>") {
		t.Error("texts are not escaped")
	}
	bars := regexp.MustCompile(`<rect class="s(\d+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="[^"]+"><title>`).
		FindAllStringSubmatch(svg, -1)
	must.That(t, len(bars) == 3, "%d bars, want 3: %s", len(bars), svg)
	number := func(s string) float64 { n, _ := strconv.ParseFloat(s, 64); return n }
	if first, second := number(bars[0][5]), number(bars[1][5]); first < 2.99*second || first > 3.01*second {
		t.Errorf("30 is %v high, 10 is %v", first, second)
	}
	for _, bar := range bars {
		if x, y := number(bar[2]), number(bar[3]); x < left || x+number(bar[4]) > width || y < top-0.01 || y+number(bar[5]) > height-bottom+0.01 {
			t.Errorf("the bar %v is outside", bar[0])
		}
	}
}

func TestAPictureOfNothingIsAPicture(t *testing.T) {
	if svg := (Bars{Title: "none"}).SVG(); !strings.HasPrefix(svg, "<svg") || strings.Contains(svg, "NaN") {
		t.Error(svg)
	}
}

func TestPartsBesideEachOtherDoNotOverlap(t *testing.T) {
	b := Bars{Series: []string{"before", "after"}, Column: []string{"a & b", "c"}, Value: [][]int{{30, 10}, {0, 20}},
		Beside: true, Names: true}
	svg := b.SVG()
	bars := regexp.MustCompile(`<rect class="s(\d+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)" fill="[^"]+"><title>`).
		FindAllStringSubmatch(svg, -1)
	must.That(t, len(bars) == 3 && strings.Contains(svg, "1: a &amp; b"), "%d bars: %s", len(bars), svg)
	number := func(s string) float64 { n, _ := strconv.ParseFloat(s, 64); return n }
	if end := number(bars[0][2]) + number(bars[0][3]); end > number(bars[1][2])+0.02 {
		t.Errorf("the first ends at %v, the second begins at %s", end, bars[1][2])
	}
	if high := number(bars[0][4]); high < float64(height-top-bottom)-0.1 {
		t.Errorf("the highest is %v high, expected all of the picture: parts are not added up", high)
	}
}
