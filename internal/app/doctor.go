package app

import (
	"context"
	"errors"

	"shardboard/internal/api"
	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// DoctorOptions configures Doctor.
type DoctorOptions struct {
	Databases []string // databases with projects; none: those found in the routing table
	Actions   bool     // also fail when a privilege needed only for changes is missing
}

// Doctor connects, examines the privileges of the cluster user, and disconnects. The error is that
// of a cluster that cannot be used; missing privileges are in the report.
func Doctor(ctx context.Context, c Config, o DoctorOptions) (report api.DoctorReport, err error) {
	client, err := connect(ctx, c.cluster())
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, client.Close(context.WithoutCancel(ctx))) }()
	server, err := client.Server(ctx)
	if err != nil {
		return report, err
	}
	watcher := topology.NewWatcher(client, c.Watcher)
	// A partly readable routing table is enough; what was unreadable is in the report.
	if _, err := watcher.Load(ctx); err != nil && fault.Of(err) != fault.Forbidden {
		return report, err
	}
	s := doctor.Subject{Table: watcher.Table(), Server: server, Profile: c.cluster().profile()}
	names := o.Databases
	if len(names) == 0 {
		names = s.Profile.Match(s.Table)
	}
	for _, db := range names {
		s.Data = append(s.Data, doctor.Data{DB: db, Layout: s.Profile.Nearest(s.Table, db)})
	}
	found, err := doctor.Examine(ctx, client, s)
	if err != nil {
		return report, err
	}
	report = doctorReport(found, c.URI.String(), o.Actions)
	for _, text := range c.URI.Ignored() {
		report.Checks = append(report.Checks,
			api.DoctorCheck{Code: "address", State: string(doctor.Warns), Args: map[string]string{"text": text}})
	}
	return report, nil
}

func doctorReport(r doctor.Report, target string, actions bool) api.DoctorReport {
	out := api.DoctorReport{
		OK: true, Target: target, Actions: actions, Users: append([]string{}, r.Users...),
		Checks: []api.DoctorCheck{}, Features: []api.DoctorFeature{}, Remedies: append([]string{}, doctor.Remedies(r, actions)...),
	}
	for _, c := range r.Checks {
		out.OK = out.OK && (c.State == doctor.OK || c.State == doctor.Warns)
		out.Checks = append(out.Checks, api.DoctorCheck{Code: c.Code, State: string(c.State), Args: c.Args})
	}
	for _, f := range r.Findings {
		out.OK = out.OK && (f.State == doctor.OK || f.Change && !actions)
		out.Features = append(out.Features, api.DoctorFeature{
			Code: f.Code, Database: f.DB, Change: f.Change, State: string(f.State),
			Needs: sentences(f.Needs), Lacks: sentences(f.Lacks), Unknown: sentences(f.Unsure),
		})
	}
	return out
}

func sentences(list []doctor.Privilege) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}
