package doctor

import (
	"context"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Check is one fact about the cluster or the connection. Args are the values for its text; strings
// among them come from the cluster and are untrusted.
type Check struct {
	Code  string
	State State
	Args  map[string]string
}

// Report is the result of an examination.
type Report struct {
	Users    []string // signed-in users; empty without access control
	Roles    []string // their roles as "name@database", including inherited ones; empty if unknown
	Checks   []Check
	Findings []Finding
	Product  string // topology.Atlas and so on; "" if unknown
}

// Subject is the input of an examination.
type Subject struct {
	Table   *topology.Table // possibly incomplete; never nil
	Server  topology.ServerInfo
	Profile *profile.Profile
	Data    []Data // databases with projects, found or given
}

// clockTolerance is a harmless clock difference: ids and dates of the data are compared with our
// clock to the second.
const clockTolerance = 2 * time.Second

// anonymous is the check of a cluster that requires a user and was given none.
const anonymous = "anonymous"

// Examine finds the missing privileges of the cluster user. It fails only when the context ends;
// what cannot be read is unknown. Without a required user it stops after the first checks.
func Examine(ctx context.Context, c Cluster, s Subject) (Report, error) {
	e := examination{cluster: c, tried: map[Privilege]State{}}
	var out Report
	access := e.identify(ctx)
	out.Users, out.Roles, out.Product = e.id.Users, e.id.Roles, s.Server.Product
	out.Checks = []Check{
		{Code: "target", State: OK, Args: map[string]string{"hosts": s.Server.Hosts}},
		release(s.Server), access,
	}
	if access.Code == anonymous {
		return out, ctx.Err() // an anonymous client's privileges say nothing about a user's
	}
	if s.Server.Product == topology.Atlas {
		out.Checks = append(out.Checks, atlas(s.Table))
	}
	out.Checks = append(out.Checks, clock(ctx, c), balancer(s.Table), e.cursors(ctx))
	if len(s.Data) == 0 {
		out.Checks = append(out.Checks, Check{Code: "data", State: Unknown})
	}
	out.Findings = e.judge(ctx, Features(ParseRelease(s.Server.Version), s.Profile, s.Data))
	return out, ctx.Err()
}

// identify reads who the user is. A cluster that reports no user and still answers a read has no
// access control.
func (e *examination) identify(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	id, err := e.cluster.Identity(ctx)
	if err != nil {
		return Check{Code: "access", State: Unknown}
	}
	e.id, e.listed = id, true
	if len(id.Users) > 0 {
		return Check{Code: "access", State: OK}
	}
	switch err := e.cluster.MayFind(ctx, "config.version"); {
	case err == nil, fault.Of(err) == fault.NotFound:
		e.open = true
		return Check{Code: "open", State: Warns}
	case fault.Of(err) == fault.Forbidden:
		return Check{Code: anonymous, State: Lacks}
	}
	e.listed = false
	return Check{Code: "access", State: Unknown}
}

// supported are the releases whose metadata shardboard is tested with.
var supported = map[[2]int]bool{{4, 4}: true, {5, 0}: true, {6, 0}: true, {7, 0}: true, {8, 0}: true}

func release(server topology.ServerInfo) Check {
	version := server.Version
	r := ParseRelease(version)
	out := Check{Code: "release", State: OK, Args: map[string]string{"version": version, "name": server.Release(), "product": server.Product}}
	switch {
	case version == "":
		out.State = Unknown
	case !supported[[2]int{r[0], r[1]}]:
		out.State = Warns
	}
	return out
}

// atlas names the parts that MongoDB Atlas refused to this user while the table was read.
func atlas(t *topology.Table) Check {
	out := Check{Code: "atlas", State: Warns, Args: map[string]string{}}
	var refused []string
	for part, h := range t.Health {
		if h.Denied {
			refused = append(refused, part.Name())
		}
	}
	natural.Sort(refused)
	if len(refused) > 0 {
		out.Args["refused"] = strings.Join(refused, ", ")
	}
	return out
}

func clock(ctx context.Context, c Cluster) Check {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	read, err := c.Clock(ctx)
	if err != nil || read.Theirs.IsZero() {
		return Check{Code: "clock", State: Unknown}
	}
	ahead, plusMinus := read.Ahead()
	out := Check{Code: "clock", State: OK, Args: map[string]string{
		"ahead": ahead.Round(time.Millisecond).String(), "plusMinus": plusMinus.Round(time.Millisecond).String(),
	}}
	if ahead.Abs()-plusMinus > clockTolerance {
		out.State = Warns
	}
	return out
}

// cursors checks whether open cursors may be read: those that a killed shardboard left, and those of others that hold
// up the deletion of old documents. The viewer's role does without it, because it shows everybody's operations.
func (e *examination) cursors(ctx context.Context) Check {
	out := Check{Code: "cursors", State: OK}
	if e.privilege(ctx, onCluster("inprog")[0]) != OK {
		out.State = Warns
	}
	return out
}

func balancer(t *topology.Table) Check {
	b := t.Balancer
	out := Check{Code: "balancerOn", State: OK, Args: map[string]string{"window": b.When()}}
	switch {
	case !b.Known:
		out.Code, out.State = "balancer", Unknown
	case b.Broken():
		refused := b.RefusedText()
		out.Code, out.State, out.Args = "balancerRefused", Warns, map[string]string{"text": refused.String()}
	case !b.Enabled():
		out.Code = "balancerOff"
	case b.Limited():
		out.Code = "balancerWindow"
	}
	return out
}
