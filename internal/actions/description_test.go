package actions

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryKindAndArgumentIsDescribed(t *testing.T) {
	sentence := func(what, text string) {
		if text == "" || !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] {
			t.Errorf("%s: %q is no sentence", what, text)
		}
	}
	used := map[string]bool{}
	for _, k := range Descriptions() {
		name := string(k.Kind)
		if k.Title == "" || k.Title == name || k.plan == nil {
			t.Errorf("%s has the title %q", name, k.Title)
		}
		sentence(name, k.Lead)
		sentence(name, k.Proof)
		sentence(name, k.Undo)
		var names []string
		for _, x := range k.Arguments {
			shared, ok := ArgumentNamed(x.Name)
			if !ok || slices.Contains(names, x.Name) {
				t.Errorf("%s: the argument %q is not a shared one, or is there twice", name, x.Name)
			}
			if x.Type != shared.Type && (x.Type != TypeNamespace || shared.Type != TypeCollection) {
				t.Errorf("%s: %s is a %s, elsewhere a %s", name, x.Name, x.Type, shared.Type)
			}
			sentence(name+" "+x.Name, x.Help)
			names, used[x.Name] = append(names, x.Name), true
		}
		for _, x := range k.Arguments {
			for _, other := range x.Or {
				if !slices.Contains(names, other) {
					t.Errorf("%s: %s can be said by %q, which it does not take", name, x.Name, other)
				}
			}
		}
		if Describe(k.Kind).Title != k.Title {
			t.Errorf("%s is there twice", name)
		}
	}
	for _, x := range Arguments() {
		sentence(x.Name, x.Help)
		if x.Label == "" || !used[x.Name] {
			t.Errorf("%s has the label %q, used: %t", x.Name, x.Label, used[x.Name])
		}
		if (x.Type == TypeChoice || x.Type == TypeBool) != (len(x.Choices) > 0 && x.Type != TypeDuration) {
			t.Errorf("%s: a %s with %d choices", x.Name, x.Type, len(x.Choices))
		}
	}
}

func TestAMissingArgumentIsExplainedInOneSentence(t *testing.T) {
	for _, k := range Descriptions() {
		for _, x := range k.Arguments {
			text := x.missing(k.Kind).Error()
			if !strings.HasSuffix(text, ".") || strings.HasSuffix(text, "..") {
				t.Errorf("%s %s: %q", k.Kind, x.Name, text)
			}
		}
	}
}

func TestUnknownKindIsDescribedByItsName(t *testing.T) {
	k := Kind("later")
	if d := Describe(k); Known(k) || d.Title != "later" || Describe(k).Adapts || Describe(k).KeepsGoal {
		t.Errorf("%+v", d)
	}
}
