package notices

import "strconv"

// MayNotRevoke answers a person who tries to revoke what others allowed.
func MayNotRevoke() Text {
	return Text{"You may not revoke what others allowed here. Everything stays as it is.", "你无权撤销别人在这里给出的授权，一切保持不变。"}
}

// Revoked confirms that permissions were revoked.
func Revoked(names string) Text {
	return Text{"Revoked: " + names + ". What it covered asks again from now on.", "已撤销：" + names + "。此后会重新询问。"}
}

// RevokeUsage explains how to revoke permissions.
func RevokeUsage(at string) Text {
	return Text{
		"Nothing was revoked. Send /approvals" + at + " revoke g1 to revoke the permission g1, or /approvals" + at + " revoke all to revoke all of them; /approvals" + at + " lists them.",
		"没有撤销任何授权。发送 /approvals" + at + " 撤销 g1 可撤销授权 g1，发送 /approvals" + at + " 撤销 全部 可全部撤销；发送 /approvals" + at + " 查看列表。",
	}
}

// NoGrant answers a command to revoke a permission that does not exist.
func NoGrant(at string) Text {
	return Text{"Nothing was revoked: this chat has no such permission. /approvals" + at + " lists the permissions.", "没有撤销任何授权：这个聊天里没有这样的授权。发送 /approvals" + at + " 查看列表。"}
}

// OthersWait says that n requests are open in chats that the reader cannot decide from here.
func OthersWait(n int) Text {
	en := strconv.Itoa(n) + " more requests wait in other chats. You cannot decide them from here"
	if n == 1 {
		en = "One more request waits in another chat. You cannot decide it from here"
	}
	return Text{en + "; on the host, sma approvals lists what waits.", "其他聊天里还有 " + strconv.Itoa(n) + " 个请求，无法在这里决定。可以在主机上用 sma approvals 查看。"}
}

// Undecided says that words which read like a decision decided nothing. The number n is that of a request.
func Undecided(n, at string) Text {
	return Text{
		"Nothing was decided. To decide, name the request, for example /approve" + at + " " + n + " or /deny" + at + " " + n + "; /approvals" + at + " shows what is waiting.",
		"没有做出任何决定。要决定，请写明编号，例如 /approve" + at + " " + n + " 或 /deny" + at + " " + n + "；发送 /approvals" + at + " 查看等待的请求。",
	}
}

// AdminsUnknown answers people who may be administrators. Nothing is decided.
func AdminsUnknown() Text {
	return Text{
		"I could not find out who administers this group, so I cannot tell whether you may decide. The requests stay as they are; please say it again in a moment.",
		"暂时无法查询谁是本群的管理员，因此无法确认你是否有权审批。请求保持不变，请稍后再说一次。",
	}
}

// Expired says that a request has expired.
func Expired(n string) Text {
	return Text{"Request #" + n + " has expired. Nothing was done.", "请求 #" + n + " 已失效，没有执行任何操作。"}
}

// Crowded says that a request was denied because too many are open.
func Crowded(n string) Text {
	return Text{
		"Request #" + n + " was denied, since too many are waiting here. Nothing was done.",
		"等待的请求太多，请求 #" + n + " 已被拒绝，没有执行任何操作。",
	}
}

// Switched says that a request was withdrawn because the conversation was switched.
func Switched(n string) Text {
	return Text{
		"Request #" + n + " was withdrawn, since the conversation went on elsewhere. Nothing was done.",
		"对话已切换，请求 #" + n + " 已撤回，没有执行任何操作。",
	}
}

// OverRequests refuses a command that would remove open requests from view.
func OverRequests(at string) Text {
	return Text{
		"Requests are waiting for a decision here (/approvals" + at + "), and this would withdraw them. Only somebody who may decide about them can do that; nothing was changed. You can take back your own first: /deny" + at + " and the number.",
		"这里还有等待审批的请求（/approvals" + at + "），此操作会使其失效。只有有权审批的人才能这样做；未做任何更改。你可以先用 /deny" + at + " 加编号撤回自己的请求。",
	}
}

// MayNotDecide answers a person who may not decide.
func MayNotDecide(at string) Text {
	return Text{
		"You may not decide about requests here. The requests stay as they are. If you asked for one yourself, you can take it back: /deny" + at + " and its number.",
		"你无权在这里审批，请求保持不变。如果是你自己提出的请求，可以用 /deny" + at + " 加编号撤回。",
	}
}
