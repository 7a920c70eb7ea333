package main

import (
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
)

func TestABandIsDrawnInTheOrderOfItsKeys(t *testing.T) {
	symbols := map[string]byte{"a": '1', "b": '2'}
	tile := api.MapTile{To: 4, Shards: []string{"b", "a", "gone"}, Marks: api.MapMarks{At: []int{0, 2, 3}, Shard: []int{1, 0, 2}}}
	for width, want := range map[int]string{4: "112?", 8: "111122??", 2: "12"} {
		expect.Equal(t, bandText(tile, width, symbols), want, "%d cells", width)
	}
	expect.Equal(t, bandText(api.MapTile{}, 2, symbols), "??", "an unknown tile")
}
