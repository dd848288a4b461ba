// SPDX-License-Identifier: Apache-2.0
// What the page of server/web looks like. Only web.c includes it.
#pragma once

// A wheel with eight spokes; also the favicon, with its colour written out.
#define WEB_WHEEL(colour)                                                                          \
	"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='none' stroke='" colour  \
	"' stroke-width='2.5' stroke-linecap='round'><circle cx='16' cy='16' r='13'/>"             \
	"<circle cx='16' cy='16' r='4'/><path d='M16 3v9M16 20v9M3 16h9M20 16h9M6.8 6.8l6.4 6.4"   \
	"M18.8 18.8l6.4 6.4M6.8 25.2l6.4-6.4M18.8 13.2l6.4-6.4'/></svg>"

static const char web_style[] =
	":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--line:#e1e5ea;--text:#1b2330;"
	"--soft:#5c6878;--accent:#0b6e6e;--tint:#e4f3f1;--code:#f3f5f8;--busy:#96580a;--busy-tint:#fdf1dc}\n"
	"@media(prefers-color-scheme:dark){:root{--page:#10141a;--card:#181e26;--line:#2a323d;--text:#e5eaf0;"
	"--soft:#98a5b5;--accent:#5cd0c5;--tint:#14322f;--code:#0f141a;--busy:#f0b65e;--busy-tint:#382b14}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,-apple-system,"
	"'Segoe UI',Roboto,'Noto Sans','Liberation Sans',sans-serif}\n"
	"main,footer{max-width:70rem;margin:0 auto;padding:0 1.25rem}\n"
	"a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:1px}\n"
	"header{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .9rem;padding:2.5rem 0 1.5rem}\n"
	"header svg{width:2.6rem;height:2.6rem;flex:none;color:var(--accent)}\n"
	"h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.02em;margin:0}\n"
	"h2{font-size:1.15rem;letter-spacing:-.01em;margin:2.5rem 0 .75rem}\n"
	"header div{flex:0 1 auto;min-width:0;max-width:calc(100% - 3.5rem)}\n"
	"header p{margin:0;color:var(--soft)}\n"
	".state{margin-left:auto;font-size:.875rem;font-weight:500;border-radius:2rem;padding:.25rem .85rem;"
	"background:var(--tint);color:var(--accent)}\n"
	".state::before{content:'';display:inline-block;width:.5rem;height:.5rem;margin-right:.5rem;"
	"border-radius:50%;background:currentColor;vertical-align:.08em}\n"
	".busy{background:var(--busy-tint);color:var(--busy)}\n"
	".busy::before{animation:beat 1.2s ease-in-out infinite alternate}\n"
	"@keyframes beat{to{opacity:.25}}\n"
	"@media(prefers-reduced-motion:reduce){.busy::before{animation:none}}\n"
	"dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(6rem,1fr));gap:.9rem;margin:0}\n"
	"dl div,.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem}\n"
	"dl div{padding:.8rem 1.1rem .9rem}\n"
	"dt{font-size:.85rem;color:var(--soft)}\n"
	"dd{margin:0;font-size:1.5rem;font-weight:600;letter-spacing:-.02em;font-variant-numeric:tabular-nums}\n"
	".lines{display:grid;gap:.9rem}\n"
	".half{display:grid;gap:.9rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr))}\n"
	"figure{display:flex;flex-direction:column;margin:0;overflow:hidden;min-width:0}\n"
	"figcaption{display:flex;align-items:center;justify-content:space-between;min-height:2.4rem;"
	"padding:.2rem .5rem .2rem 1.1rem;font-size:.875rem;font-weight:600;border-bottom:1px solid var(--line)}\n"
	"pre{flex:1;margin:0;padding:.8rem 1.1rem;background:var(--code);white-space:pre-wrap;overflow-wrap:anywhere}\n"
	"code{font:.875rem/1.6 ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',"
	"monospace}\n"
	"button{font:inherit;font-weight:500;color:var(--accent);background:none;border:0;border-radius:.4rem;"
	"padding:.2rem .6rem;cursor:pointer}\n"
	"button:hover{background:var(--tint)}\n"
	":focus-visible{outline:2px solid var(--accent);outline-offset:2px}\n"
	".note{margin:.9rem 0 0;color:var(--soft);font-size:.9rem}\n"
	".name{white-space:nowrap}\n"
	".wide{overflow-x:auto}\n"
	"table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
	"th,td{text-align:left;padding:.65rem 1.1rem;border-top:1px solid var(--line);vertical-align:baseline}\n"
	"thead th{border-top:0;font-size:.85rem;font-weight:500;color:var(--soft)}\n"
	"tbody th{font-weight:600;white-space:nowrap}\n"
	".n{text-align:right;white-space:nowrap}\n"
	"td code{font-size:.8125rem;overflow-wrap:anywhere;word-break:keep-all}\n"
	"footer{margin-top:2.5rem;padding-bottom:2.5rem;color:var(--soft);font-size:.875rem}\n"
	"@media(max-width:40rem){header{padding-top:1.5rem}.state{margin-left:0}thead{display:none}"
	"dl{gap:.6rem}dl div{padding:.6rem .8rem}dd{font-size:1.2rem}"
	"tr{display:grid;grid-template-columns:auto auto 1fr;gap:.15rem 1.5rem;padding:.7rem 1.1rem;"
	"border-top:1px solid var(--line)}tbody tr:first-child{border-top:0}"
	"th,td{padding:0;border:0}tbody th,.full{grid-column:1/-1}tbody th{white-space:normal;overflow-wrap:anywhere}.n{text-align:left;color:var(--soft)}"
	".n::after{content:' ' attr(data-of)}}\n";

// Buttons that copy come by script only; without one there are none. navigator.clipboard is missing on plain http.
static const char web_script[] =
	"for(const f of document.querySelectorAll('figure')){const b=document.createElement('button'),"
	"c=f.querySelector('code');b.type='button';b.textContent='Copy';b.onclick=async()=>{"
	"try{await navigator.clipboard.writeText(c.textContent)}catch{getSelection().selectAllChildren(c);"
	"document.execCommand('copy')}b.textContent='Copied';setTimeout(()=>b.textContent='Copy',1500)};"
	"f.querySelector('figcaption').append(b)}";
