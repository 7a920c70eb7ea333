package activity

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/format"
)

// longest is how many seconds the widest bar of steps stands for.
func (m page) longest() float64 {
	var out float64
	for _, x := range m.moves.Ended {
		out = max(out, before(x.Steps), x.Took.Seconds())
	}
	return out
}

// before is how many seconds steps took together.
func before(steps []api.MigrationStep) (sum float64) {
	for _, s := range steps {
		sum += s.Took.Seconds()
	}
	return sum
}

func stepText(s api.MigrationStep) string { return s.Name + ": " + precise(s.Took) }

// stepsLabel is the bar in words.
func stepsLabel(m api.Migration) string {
	var out []string
	for _, s := range m.Steps {
		out = append(out, stepText(s))
	}
	return strings.Join(out, "; ")
}

// precise writes a duration of which milliseconds matter, as steps take.
func precise(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return format.Span(d)
}

// firstNames are at most three names of a list.
func firstNames(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:most], ", ") + ", " + strconv.Itoa(len(all)-most) + " more"
}

// stepClass colours a step of a move; more steps than colours begin anew.
func stepClass(i int) string { return "step" + strconv.Itoa(i%8+1) }
