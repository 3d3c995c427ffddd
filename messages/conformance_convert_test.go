package messages_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// toolSpec is a tool described as data.
type toolSpec struct {
	// Members that only matter to models and to running tools are ignored.
	Description   json.RawMessage `json:"description"`
	Title         json.RawMessage `json:"title"`
	Metadata      json.RawMessage `json:"metadata"`
	Dynamic       json.RawMessage `json:"dynamic"`
	NeedsApproval json.RawMessage `json:"needsApproval"`
	Execute       json.RawMessage `json:"execute"`

	InputSchema   json.RawMessage              `json:"inputSchema"`
	OutputSchema  json.RawMessage              `json:"outputSchema"`
	ToModelOutput *conformancetest.ModelOutput `json:"toModelOutput"`
}

// toolSet returns a named set of tools, or an inline one.
func toolSet(t *testing.T, file conformancetest.File, raw json.RawMessage) (set map[string]toolSpec) {
	t.Helper()
	if raw = file.Tools(t, raw); raw != nil {
		conformancetest.Decode(t, raw, &set)
	}
	return set
}

// standardDataPart is the converter of data parts that the vectors call standard.
func standardDataPart(p uimessage.Data) modelmessage.Part {
	var data struct {
		Text      string  `json:"text"`
		MediaType string  `json:"mediaType"`
		URL       string  `json:"url"`
		Filename  *string `json:"filename"`
	}
	if json.Unmarshal(p.Data, &data) != nil {
		return nil
	}
	switch p.Name {
	case "note":
		return modelmessage.Text{Text: data.Text}
	case "attachment":
		file := modelmessage.File{MediaType: data.MediaType, Data: data.URL}
		if data.Filename != nil {
			file.Filename = uimessage.Some(*data.Filename)
		}
		return file
	default:
		return nil
	}
}

type convertRun struct {
	Options struct {
		IgnoreIncompleteToolCalls bool            `json:"ignoreIncompleteToolCalls"`
		Tools                     json.RawMessage `json:"tools"`
		ConvertDataPart           string          `json:"convertDataPart"`
	} `json:"options"`
	Expect struct {
		ModelMessages json.RawMessage `json:"modelMessages"`
		Error         *expectedError  `json:"error"`
	} `json:"expect"`
}

func checkConvert(t *testing.T, file conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c struct {
		conformancetest.Head
		Messages json.RawMessage `json:"messages"`
		Runs     []convertRun    `json:"runs"`
	}
	conformancetest.Decode(t, raw, &c)
	var list []uimessage.Message
	err := json.Unmarshal(c.Messages, &list)
	stdtest.Must(t, err)
	written, err := json.Marshal(list)
	stdtest.Must(t, err)
	if len(c.Runs) == 0 {
		t.Error("the case has no runs")
	}
	for _, run := range c.Runs {
		opts := conformancetest.Options{IgnoreIncompleteToolCalls: run.Options.IgnoreIncompleteToolCalls}
		if specs := toolSet(t, file, run.Options.Tools); specs != nil {
			opts.Tools = map[string]conformancetest.Tool{}
			for name, spec := range specs {
				tool := conformancetest.Tool{}
				if spec.ToModelOutput != nil {
					tool.ToModelOutput = spec.ToModelOutput.Of
				}
				opts.Tools[name] = tool
			}
		}
		if run.Options.ConvertDataPart == "standard" {
			opts.ConvertDataPart = standardDataPart
		}
		checkConvertRun(t, list, opts, run)
	}
	again, err := json.Marshal(list)
	if err != nil || string(again) != string(written) {
		t.Errorf("conversion changed its input: %s, was %s (%v)", again, written, err)
	}
}

func checkConvertRun(t *testing.T, list []uimessage.Message, opts conformancetest.Options, run convertRun) {
	t.Helper()
	got, err := conformancetest.Convert(list, opts)
	if run.Expect.Error != nil {
		role, isRole := errors.AsType[*modelmessage.RoleError](err)
		switch run.Expect.Error.Name {
		case "AI_MessageConversionError":
			if !isRole {
				t.Errorf("got error %v, want one about the role", err)
			}
		default:
			if err == nil || isRole {
				t.Errorf("got error %v (%v), want %s", err, role, run.Expect.Error.Name)
			}
		}
		return
	}
	stdtest.Must(t, err)
	encoded, err := json.Marshal(got)
	stdtest.Must(t, err)
	same(t, "model messages", encoded, run.Expect.ModelMessages)
}
