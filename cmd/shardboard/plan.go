package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/fault"
)

type planCmd struct {
	remoteFlags `embed:""`
	Flags       kong.Plugins `embed:""` // of planFlags
	Kind        string       `arg:"" optional:"" help:"What to do: ${planKinds}."`
	Arg         []string     `placeholder:"NAME=VALUE" sep:"none" help:"An argument by its name in the API, instead of its flag."`
	Reason      string       `help:"Reason; kept in the audit record. Required."`
	JSON        bool         `name:"json" help:"Print the API's JSON."`
}

// planKinds is what can be planned, for --help; the server decides.
func planKinds() string {
	var out []string
	for _, k := range actions.Kinds() {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

// planFlags is a pointer to a struct with a flag for each argument of a change:
// a bool for a switch, else a string that the API reads.
func planFlags() any {
	var fields []reflect.StructField
	for _, x := range actions.Arguments() {
		tag := fmt.Sprintf(`name:%q group:"Arguments" help:%q`, x.Name, x.Help)
		kind := reflect.TypeFor[string]()
		if x.Type == actions.TypeSwitch {
			kind = reflect.TypeFor[bool]()
		} else {
			tag += fmt.Sprintf(` placeholder:%q`, placeholder(x))
		}
		fields = append(fields, reflect.StructField{Name: strings.ToUpper(x.Name), Type: kind, Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// placeholder is what --help shows for the value of a flag.
func placeholder(x actions.Argument) string {
	switch x.Type {
	case actions.TypeCollection, actions.TypeNamespace:
		return "DB.COLLECTION"
	case actions.TypeKey, actions.TypePattern, actions.TypeBounds, actions.TypeCuts, actions.TypeZones, actions.TypePlans:
		return "JSON"
	case actions.TypeChunk:
		return "REF"
	case actions.TypeChunks:
		return "REF,REF…"
	case actions.TypeProjects:
		return "PROJECT,PROJECT…"
	case actions.TypeDatabase:
		return "DB"
	case actions.TypeTime:
		return "HH:MM"
	case actions.TypeChoice, actions.TypeBool:
		var values []string
		for _, c := range x.Choices {
			values = append(values, c.Value)
		}
		return strings.Join(values, "|")
	}
	return strings.ToUpper(string(x.Type)) // SHARD, ZONE, PROJECT, COUNT, DURATION, TEXT
}

// named are the flags that were given, as name=value pairs.
func named(flags kong.Plugins) []string {
	var out []string
	for _, f := range flags {
		values := reflect.ValueOf(f).Elem()
		for i, x := range actions.Arguments() {
			if value := values.Field(i); !value.IsZero() {
				out = append(out, fmt.Sprintf("%s=%v", x.Name, value))
			}
		}
	}
	return out
}

// planArgs makes the API's object of name=value pairs. A name that is not known
// here is sent as text: the server may be newer.
func planArgs(pairs []string) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Invalid, "An argument must be name=value, not %q.", pair)
		}
		if _, twice := args[name]; twice {
			return nil, fault.New(fault.Invalid, "The argument %q is given twice.", name)
		}
		x, _ := actions.ArgumentNamed(name)
		raw, err := x.FromText(value)
		if err != nil && placeholder(x) == "JSON" {
			return nil, fault.Wrap(fault.Invalid, err, "%s Put it into single quotes.", fault.Text(err))
		}
		if err != nil {
			return nil, err
		}
		args[name] = raw
	}
	return json.Marshal(args)
}

// Help tells that nothing has to be known by heart.
func (planCmd) Help() string {
	return "In a terminal it asks for what is missing, with the names to choose from: shardboard plan is enough. Ctrl-C ends it, and " +
		"nothing is planned. Without a terminal the error names what is missing."
}

// Run makes a plan and shows it. One that a check blocks is shown too, and ends
// as a refused run would.
func (c planCmd) Run(e *env) error {
	list := append(named(c.Flags), c.Arg...)
	if _, err := planArgs(list); err != nil { // before anybody is asked for more
		return err
	}
	remote, err := c.remote()
	if err != nil {
		return err
	}
	if list, err = c.complete(e, remote, list); err != nil {
		return err
	}
	args, err := planArgs(list)
	if err != nil {
		return err
	}
	p, err := remote.MakePlan(e.ctx, api.PlanRequest{Kind: c.Kind, Args: api.PlanArgs{RawMessage: args}, Reason: c.Reason})
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
