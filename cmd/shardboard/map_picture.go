package main

import (
	"fmt"
	"net/url"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/app"
)

const (
	// pictureBands is how many collections are drawn: each costs a request, and the largest are first.
	pictureBands = 20
	// shardSymbols stand for the shards in their order; further ones share the last.
	shardSymbols = "123456789abcdefghijklmnopqrstuvwxyz#"
)

// drawMap draws the map of all collections below their table, in a terminal: a line for each that is sharded, from
// its lowest to its highest key, where each cell is as many chunks as any other and names the shard with most of them.
func (q query) drawMap(e *env, remote app.Remote) error {
	var all api.ClusterMap
	if err := remote.Get(e.ctx, q.address(nil), &all); err != nil {
		return err
	}
	symbols, legend := map[string]byte{}, []string{}
	for i, s := range all.Shards {
		symbols[s.Name] = shardSymbols[min(i, len(shardSymbols)-1)]
		legend = append(legend, string(symbols[s.Name])+" "+s.Name)
	}
	var bands []api.MapBand
	name := 0
	for _, b := range all.Bands {
		if b.Total > 0 && len(bands) < pictureBands {
			bands, name = append(bands, b), max(name, cells(clean(b.NS)))
		}
	}
	name = min(name, e.out.width/3)
	width := max(e.out.width-name-columnGap, 16)
	line(e.stdout, "\nFrom the lowest to the highest key: %s", strings.Join(legend, ", "))
	for _, b := range bands {
		tile, err := readBand(e, remote, q, b.NS, width)
		if err != nil {
			return err
		}
		shown := shorten(clean(b.NS), name)
		fmt.Fprintln(e.stdout, shown+strings.Repeat(" ", name-cells(shown)+columnGap)+bandText(tile, width, symbols))
	}
	return nil
}

// readBand is one collection as a single tile.
func readBand(e *env, remote app.Remote, q query, ns string, marks int) (tile api.MapTile, err error) {
	filters := url.Values{"level": {"0"}, "index": {"0"}, "marks": {fmt.Sprint(min(marks, 2000))}}
	if at := q.filters.Get("at"); at != "" {
		filters.Set("at", at)
	}
	err = remote.Get(e.ctx, fill("/map/{ns}/tile", []string{ns})+"?"+filters.Encode(), &tile)
	return tile, err
}

// bandText is a symbol for each cell. A collection with fewer chunks than cells has several cells for a chunk.
func bandText(tile api.MapTile, width int, symbols map[string]byte) string {
	var b strings.Builder
	mark := 0
	for cell := range width {
		at := tile.From + cell*(tile.To-tile.From)/width
		for mark+1 < len(tile.Marks.At) && tile.Marks.At[mark+1] <= at {
			mark++
		}
		symbol := byte('?')
		if mark < len(tile.Marks.Shard) {
			if i := tile.Marks.Shard[mark]; i >= 0 && i < len(tile.Shards) {
				if known, ok := symbols[tile.Shards[i]]; ok {
					symbol = known
				}
			}
		}
		b.WriteByte(symbol)
	}
	return b.String()
}
