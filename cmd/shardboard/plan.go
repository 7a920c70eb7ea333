package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
)

// planKinds lists the kinds of changes for --help; the server decides which exist.
const planKinds = "split, split-project, split-hot, merge, move, pin, isolate, unpin, spread, zone-add-shard, zone-remove-shard, zone-set-range, zone-remove-range, balancer-on, balancer-off, balancer-window, balance-collection, clear-jumbo"

type planCmd struct {
	remoteFlags `embed:""`
	planFlags   `embed:""`
	Kind        string   `arg:"" help:"What to do: ${planKinds}."`
	Arg         []string `placeholder:"NAME=VALUE" sep:"none" help:"An argument by its name in the API; as good as the flag of that name."`
	Reason      string   `required:"" help:"Why, for those who read the record later."`
	JSON        bool     `name:"json" help:"Print the API's JSON."`
}

// planFlags are the arguments of all kinds, named as in the API.
type planFlags struct {
	NS      string `name:"ns" group:"Arguments" placeholder:"DB.COLLECTION" help:"Collection."`
	At      string `group:"Arguments" placeholder:"JSON" help:"Shard key to split at, in Extended JSON."`
	Parts   string `group:"Arguments" placeholder:"N" help:"Into how many parts to split."`
	Bounds  string `group:"Arguments" placeholder:"JSON" help:"[min, max]: exactly those of a chunk, or of the chunks to merge."`
	Chunk   string `group:"Arguments" placeholder:"REF" help:"A chunk's reference instead of its bounds."`
	To      string `group:"Arguments" placeholder:"SHARD" help:"Shard to move to."`
	Project string `group:"Arguments" placeholder:"PROJECT" help:"Project's id, exact name or public key."`
	DB      string `name:"db" group:"Arguments" placeholder:"DB" help:"Which database's project, where several have it."`
	Shard   string `group:"Arguments" placeholder:"SHARD" help:"Shard."`
	Zone    string `group:"Arguments" placeholder:"ZONE" help:"Zone."`
	Min     string `group:"Arguments" placeholder:"JSON" help:"Lower bound, in Extended JSON."`
	Max     string `group:"Arguments" placeholder:"JSON" help:"Upper bound, in Extended JSON."`
	Mode    string `group:"Arguments" placeholder:"MODE" help:"Who moves the chunks: moves (shardboard) or balancer."`
	On      string `group:"Arguments" placeholder:"true|false" help:"Whether the balancer may touch the collection."`
	Start   string `group:"Arguments" placeholder:"HH:MM" help:"When the balancer's window begins, by the config server's clock."`
	Stop    string `group:"Arguments" placeholder:"HH:MM" help:"When it ends."`
	Force   bool   `group:"Arguments" help:"Also move a chunk that is too big or jumbo."`
	Expires string `group:"Arguments" placeholder:"DURATION" help:"After how long a pin is reported as expired, such as 720h."`
	Owner   string `group:"Arguments" placeholder:"WHO" help:"Who answers for a pin."`
	Pause   string `group:"Arguments" placeholder:"WHAT" help:"Pause balancing while the run is at work: collections (only those concerned) or balancer (the whole cluster's)."`
	Chunks  string `group:"Arguments" placeholder:"REF,REF…" help:"Several chunks' references, for split-hot."`
	Cuts    string `group:"Arguments" placeholder:"JSON" help:"What a plan of split-hot chose, to have the same again."`
}

// given returns the flags that were set, as name=value.
func (f planFlags) given() []string {
	var out []string
	for _, a := range []struct{ name, value string }{
		{"ns", f.NS}, {"at", f.At}, {"parts", f.Parts}, {"bounds", f.Bounds}, {"chunk", f.Chunk}, {"to", f.To}, {"project", f.Project},
		{"db", f.DB}, {"shard", f.Shard}, {"zone", f.Zone}, {"min", f.Min}, {"max", f.Max}, {"mode", f.Mode}, {"on", f.On},
		{"start", f.Start}, {"stop", f.Stop}, {"expires", f.Expires}, {"owner", f.Owner}, {"pause", f.Pause}, {"chunks", f.Chunks}, {"cuts", f.Cuts},
	} {
		if a.value != "" {
			out = append(out, a.name+"="+a.value)
		}
	}
	if f.Force {
		out = append(out, "force=true")
	}
	return out
}

// planArgs makes the API's object from name=value pairs. The server checks the names and which of
// them a kind takes.
func planArgs(pairs []string) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Invalid, "An argument is name=value; %q is not.", pair)
		}
		if _, twice := args[name]; twice {
			return nil, fault.New(fault.Invalid, "The argument %q is given twice.", name)
		}
		switch name {
		case "at", "min", "max", "bounds", "cuts", "parts", "on", "force": // JSON in the API too
			if !json.Valid([]byte(value)) {
				return nil, fault.New(fault.Invalid, "The argument %q is JSON, and %q is not. Put it into single quotes.", name, value)
			}
			args[name] = json.RawMessage(value)
		case "chunks":
			text, err := json.Marshal(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }))
			if err != nil {
				return nil, fmt.Errorf("encode argument: %w", err)
			}
			args[name] = text
		default:
			text, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("encode argument: %w", err)
			}
			args[name] = text
		}
	}
	return json.Marshal(args)
}

// Run makes a plan and prints it. A plan that a check blocks is printed too, with the exit code of
// a refused run.
func (c planCmd) Run(e *env) error {
	args, err := planArgs(append(c.given(), c.Arg...))
	if err != nil {
		return err
	}
	remote, err := c.remote()
	if err != nil {
		return err
	}
	p, err := remote.MakePlan(e.ctx, api.PlanRequest{Kind: c.Kind, Args: args, Reason: c.Reason})
	if err != nil {
		return printDetails(e, err)
	}
	return showPlan(e, p, c.JSON)
}

func showPlan(e *env, p api.Plan, asJSON bool) error {
	show := func() error { return printPlan(e.stdout, p) }
	if asJSON {
		show = func() error { return printJSON(e.stdout, p) }
	}
	if err := show(); err != nil {
		return err
	}
	if p.Blocked {
		return fault.New(fault.Conflict, "This plan cannot be run: a check blocks it. Nothing was changed.")
	}
	return nil
}
