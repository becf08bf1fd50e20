// The looks of the report, and the one script in it: sorting and filtering the table. Without
// scripts everything can be read.
#pragma once

#include <string_view>

namespace atl::report {

inline constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--bg:#fff;--panel:#f6f8fa;
--good:#1a7f37;--bad:#c4252f;--busy:#1d5fc4;--wait:#8a6100;--gone:#7a4bd0;--block:#b34a00}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#a5b0bb;--line:#3d444d;--bg:#0d1117;--panel:#161b22;
--good:#4ac26b;--bad:#ff7b72;--busy:#6cb0ff;--wait:#d4a72c;--gone:#b99bff;--block:#ffa657}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:1360px;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0 0 .3rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
p{margin:.4rem 0}.soft{color:var(--soft)}code{overflow-wrap:anywhere}code,pre{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.87em}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;margin:.4rem 0;
overflow:auto;max-height:28rem;white-space:pre-wrap;overflow-wrap:anywhere}
.state{font-weight:600;white-space:nowrap}
.succeeded{color:var(--good)}.failed{color:var(--bad)}.running{color:var(--busy)}.ready,.queued{color:var(--wait)}
.cancelled{color:var(--gone)}.blocked{color:var(--block)}.waiting,.skipped{color:var(--soft)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.5rem 1.5rem;margin:1rem 0}
.facts div{border-left:3px solid var(--line);padding-left:.7rem;min-width:0;overflow-wrap:anywhere}
.facts dt{color:var(--soft);font-size:.8rem}.facts dd{margin:0}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:.5rem;background:var(--bg)}
.wide+.wide{margin-top:.6rem}.wide svg{display:block;max-width:none}.plot{max-height:44rem;overflow:auto}.plot svg{width:100%;min-width:760px;max-width:1150px;height:auto}
.bar{stroke:none}.bar.queued{fill:var(--wait);opacity:.45}.bar.succeeded{fill:var(--good)}.bar.failed{fill:var(--bad)}
.bar.running{fill:var(--busy)}.bar.cancelled{fill:var(--gone)}.bar.blocked{fill:var(--block)}.dashed{stroke-dasharray:6 4}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .5rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td.num,th.num{text-align:right}td.num,.where{white-space:nowrap}thead th{color:var(--soft);font-weight:600;vertical-align:bottom}
.steps{padding:0;max-height:46rem;overflow:auto}.steps table{width:100%}
.steps thead th{position:sticky;top:0;background:var(--panel);z-index:1}.steps tfoot td{font-weight:600}
.steps .name{position:sticky;left:0;background:var(--bg);min-width:7rem;max-width:18rem;overflow-wrap:anywhere;font-weight:600}
.steps thead .name{background:var(--panel);z-index:2}
.pairs td{overflow-wrap:anywhere}.pairs td:first-child{color:var(--soft);min-width:6rem}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
th[aria-sort=ascending] button::after{content:" ▲"}th[aria-sort=descending] button::after{content:" ▼"}
input{font:inherit;padding:.25rem .5rem;margin:.3rem 0;border:1px solid var(--line);border-radius:6px;
background:var(--bg);color:var(--ink);width:18rem;max-width:100%}
details{border:1px solid var(--line);border-radius:6px;padding:.4rem .8rem;margin:.4rem 0}
summary{cursor:pointer;overflow-wrap:anywhere}h3{font-size:.87rem;margin:.8rem 0 .2rem;color:var(--soft)}
@media print{.wide,.steps,.plot,pre{overflow:visible;max-height:none}}
)css";

inline constexpr std::string_view kPageScript = R"js(
(()=>{const t=document.getElementById("steps");if(!t)return;const b=t.tBodies[0],rows=[...b.rows];
const f=document.createElement("input");f.type="search";f.placeholder="filter steps";f.setAttribute("aria-label","filter steps");
f.oninput=()=>{const w=f.value.toLowerCase();for(const r of rows)r.hidden=!r.textContent.toLowerCase().includes(w)};
t.parentNode.before(f);
[...t.tHead.rows[0].cells].forEach((h,i)=>{const k=document.createElement("button");k.textContent=h.textContent;
h.replaceChildren(k);k.onclick=()=>{const up=h.getAttribute("aria-sort")!=="ascending";
for(const o of h.parentNode.cells)o.removeAttribute("aria-sort");h.setAttribute("aria-sort",up?"ascending":"descending");
const v=r=>{const c=r.cells[i],n=c.dataset.v;return n===undefined?c.textContent.toLowerCase():n===""?-1:Number(n)};
b.append(...rows.sort((x,y)=>{const p=v(x),q=v(y);return(p<q?-1:p>q?1:0)*(up?1:-1)}))}})})();
)js";

}  // namespace atl::report
