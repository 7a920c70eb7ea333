package profile

import (
	"fmt"
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestSentencesSpeakTheWordsOfTheProfile(t *testing.T) {
	shop := &Profile{Tenants: Called{"Tenant", "Tenants"}, Called: Called{"Order", "Orders"}}
	for _, tc := range []struct {
		p          *Profile
		text, want string
	}{
		{Yorkie(), "Projects: a project has a Yorkie document.", "Projects: a project has a Yorkie document."},
		{nil, "a project", "a project"},
		{shop, "Projects: a project has a Yorkie document.", "Tenants: a tenant has an order."},
		{shop, "No project's name, no Yorkie documents of projects.", "No tenant's name, no orders of tenants."},
		{shop, "split-project --project id of project_id: /projects, project=1, {project}, subproject, projector",
			"split-project --project id of project_id: /projects, project=1, {project}, subproject, projector"},
		{shop, "a project’s name; “project”, Größeproject", "a tenant’s name; “tenant”, Größeproject"},
		{shop, "A Yorkie document.", "An order."},
		{shop, "a project-wide list; project/key. Which project?", "a tenant-wide list; tenant/key. Which tenant?"},
		{&Profile{Tenants: Called{"VM", "VMs"}}, "a project, a Yorkie document", "a VM, a Yorkie document"},
	} {
		expect.Equal(t, tc.p.Words(tc.text), tc.want, "%q", tc.text)
	}
	odd := &Profile{Tenants: Called{"100 % tenant", "100 % tenants"}}
	for p, want := range map[*Profile]string{nil: "no project 1", shop: "no tenant 1", odd: "no 100 % tenant 1"} {
		expect.Equal(t, fmt.Sprintf(p.Format("no project %d"), 1), want, "the text")
	}
}
