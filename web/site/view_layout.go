package site

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/profile"
)

// NoDatabase says what was looked for in vain.
func NoDatabase(p *profile.Profile) api.State { return answer.NoDatabase(p) }
