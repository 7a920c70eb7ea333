package parts

import (
	"shardboard/internal/api"
	"shardboard/web/templates"
)

// Written writes a figure of an answer in its own way, such as a duration.
func Written(f api.Figure, write func(int64) string) templates.Figure { return figure(f, write) }
