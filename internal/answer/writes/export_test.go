package writes

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/topology"
)

// HeatMapOf writes a picture that no recorder has: one of the largest size.
func HeatMapOf(v answer.View, c *topology.Collection, p keyvis.View, q HeatMapQuery) api.HeatMap {
	out, _ := heatMapOf(v, c, p, q)
	return out
}
