package app

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/rules"
)

// settingsByRuns returns the function that lists the settings of collections which runs
// have set, newest first, for the rules on settings; nil while actions are off.
func (p *clusterParts) settingsByRuns() func(ctx context.Context) ([]rules.SettingByRun, error) {
	if p.engine == nil {
		return nil
	}
	return func(ctx context.Context) ([]rules.SettingByRun, error) {
		var out []rules.SettingByRun
		looked := 0
		err := forEachRun(ctx, p.engine, func(r engine.Run) bool {
			for i := len(r.Steps) - 1; i >= 0; i-- {
				if set, ok := settingOf(r.Steps[i]); ok {
					set.Run = r.ID
					out = append(out, set)
				}
			}
			looked++
			return looked < pausesMaxRuns
		})
		return out, err
	}
}

// settingOf returns the setting that a step has set by its own command.
func settingOf(s engine.Step) (rules.SettingByRun, bool) {
	if s.Setting() == "" || s.State != engine.Succeeded || s.Already != "" || s.Pauses || s.Restores {
		return rules.SettingByRun{}, false
	}
	out := rules.SettingByRun{SettingOf: rules.SettingOf{NS: s.NS, Setting: rules.Setting(s.Setting())}, Value: rules.SettingOff, At: s.Ended}
	switch {
	case rules.Setting(s.Setting()) == rules.SettingChunkSize:
		out.Value = rules.ChunkSizeValue(int64(s.Size) << 20)
	case s.On:
		out.Value = rules.SettingOn
	}
	return out, true
}
