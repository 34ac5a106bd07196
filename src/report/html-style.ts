/** The look of a report: system fonts, light and dark, from a phone up. No URL in it. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f5f6f8;--card:#fff;--ink:#1a1d21;--soft:#59626e;--line:#e2e5ea;--inset:#f6f7f9;--accent:#3557d6;--accent2:#9db1f2;
--good:#12733f;--good-bg:#e4f5ea;--bad:#b3261e;--bad-bg:#fdeceb;--warning:#8a5a00;--warning-bg:#fdf3dc;--mute-bg:#edeff2;
--add-bg:#e6f6ea;--del-bg:#fdecec;--shadow:0 1px 2px rgb(20 25 35/.05),0 4px 14px rgb(20 25 35/.05);
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media (prefers-color-scheme:dark){:root{--bg:#0d1014;--card:#15191f;--ink:#e7eaee;--soft:#98a2b0;--line:#272d36;--inset:#101419;--accent:#8ea6ff;--accent2:#3c4f9c;
--good:#4fcf8a;--good-bg:#10291c;--bad:#ff8a80;--bad-bg:#331615;--warning:#e8bb55;--warning-bg:#2c2310;--mute-bg:#22272f;
--add-bg:#10291c;--del-bg:#331615;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 var(--sans);overflow-wrap:anywhere}
.page{max-width:60rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}
h1,h2,h3,p,dl,dd,ul,ol,figure{margin:0}
h2{font-size:1.05rem;line-height:1.3;letter-spacing:-.005em;margin-bottom:.75rem}
h3{font-size:.9rem;margin:1.25rem 0 .5rem;color:var(--soft);font-weight:600}
ul{padding-left:1.2rem}
code,pre{font-family:var(--mono);font-size:.86em}
code,bdi,pre,.prose,.title{unicode-bidi:isolate}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.4rem .8rem;z-index:9}
.verdict{background:var(--card);border:1px solid var(--line);border-top:5px solid var(--tone);border-radius:14px;padding:1.4rem 1.6rem 1.3rem;box-shadow:var(--shadow)}
.good{--tone:var(--good);--tone-bg:var(--good-bg)}.bad{--tone:var(--bad);--tone-bg:var(--bad-bg)}.warning{--tone:var(--warning);--tone-bg:var(--warning-bg)}
.about{color:var(--soft);font-size:.82rem;display:flex;flex-wrap:wrap;gap:.15rem .55rem}
.about>*+*::before{content:"·";margin-right:.55rem}
.head{display:flex;align-items:center;gap:.8rem;margin:.7rem 0 .6rem;flex-wrap:wrap}
.mark{flex:none;width:2.4rem;height:2.4rem;border-radius:50%;background:var(--tone);color:var(--card);display:grid;place-items:center;font-size:1.35rem;font-weight:700}
h1{font-size:2rem;line-height:1.15;letter-spacing:-.02em;color:var(--tone)}
.tags{display:flex;gap:.4rem;flex-wrap:wrap;margin-left:auto}
.tag{font-size:.8rem;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:.1rem .65rem;white-space:nowrap}
.why{font-size:1.08rem;max-width:46rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.9rem 1.2rem;margin-top:1.2rem;padding-top:1.1rem;border-top:1px solid var(--line)}
.tiles dt{color:var(--soft);font-size:.78rem}.tiles dd{font-weight:600;font-variant-numeric:tabular-nums}
.plus{color:var(--good)}.minus{color:var(--bad)}
nav{display:flex;flex-wrap:wrap;gap:.25rem;margin:1rem 0 .25rem}
nav a{color:var(--soft);text-decoration:none;font-size:.88rem;padding:.3rem .7rem;border-radius:99px}
nav a:hover{background:var(--mute-bg);color:var(--ink)}
.card,.banner{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.2rem 1.6rem 1.35rem;margin-top:1rem;box-shadow:var(--shadow);scroll-margin-top:1rem}
.banner{background:var(--bad-bg);border-color:var(--bad);color:var(--ink);margin:0 0 1rem}.banner h2{color:var(--bad);margin-bottom:.3rem}.banner ul{margin-top:.5rem;font-size:.9rem}
.words{display:grid;gap:1.1rem}.words h2{margin-bottom:.3rem}
.prose{white-space:pre-wrap}
.empty,.aside,.cut{color:var(--soft)}.aside{margin-bottom:.75rem}.cut{font-size:.82rem;margin-top:.4rem}
.pill{display:inline-block;border-radius:99px;padding:.05rem .6rem;font-size:.82rem;font-weight:600;white-space:nowrap;color:var(--tone,var(--soft));background:var(--tone-bg,var(--mute-bg))}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
details>summary{position:relative}
details>summary::after{content:"";position:absolute;right:.35rem;top:var(--mid,1.15rem);width:.42rem;height:.42rem;border:solid var(--soft);border-width:0 1.5px 1.5px 0;transform:translateY(-70%) rotate(45deg)}
details[open]>summary::after{transform:translateY(-20%) rotate(-135deg)}
details>summary:hover::after{border-color:var(--ink)}
.check{border-top:1px solid var(--line)}.check:first-child{border-top:0}
.check>summary{display:flex;align-items:center;gap:.4rem 1rem;flex-wrap:wrap;padding:.6rem 1.6rem .6rem 0;--mid:1.35rem}
.check .name{font-weight:600;flex:1 1 11rem;min-width:0}.move{display:flex;align-items:center;gap:.45rem}.arrow{color:var(--soft)}
.note{color:var(--soft);font-size:.82rem;font-variant-numeric:tabular-nums}.check .note{min-width:9rem}
.body{padding:.1rem 0 .9rem}
.why-not{color:var(--bad);margin-bottom:.4rem}
.label{color:var(--soft);font-size:.76rem;margin:.6rem 0 .25rem}.body>.label:first-child{margin-top:0}
pre{margin:0;background:var(--inset);border:1px solid var(--line);border-radius:8px;padding:.65rem .8rem;overflow:auto;max-height:26rem;white-space:pre;line-height:1.5;overflow-wrap:normal}
.diff{padding:.4rem 0}.diff span{display:block;padding:0 .8rem;min-width:max-content}
.diff .a{background:var(--add-bg);color:var(--good)}.diff .d{background:var(--del-bg);color:var(--bad)}.diff .h,.diff .m{color:var(--soft)}
.file{border-top:1px solid var(--line);padding:.5rem 0}.file:first-child{border-top:0}
.file>summary,div.file{display:flex;align-items:center;gap:.7rem}.file>summary{padding-right:1.6rem;--mid:.7rem}.file code{min-width:0}
.file pre{margin:.6rem 0 .4rem}
.kind{flex:none;width:1.35rem;height:1.35rem;border-radius:5px;background:var(--mute-bg);color:var(--soft);font:600 .72rem/1.35rem var(--mono);text-align:center}
.kind.add{color:var(--good);background:var(--good-bg)}.kind.delete{color:var(--bad);background:var(--bad-bg)}
.size{color:var(--soft);font-size:.85rem;white-space:nowrap;font-variant-numeric:tabular-nums}
.denials{list-style:none;padding:0}.denials li{border-left:3px solid var(--warning);padding:.15rem 0 .15rem .8rem;margin-top:.7rem}.denials p{font-size:.88rem;color:var(--soft)}
.timeline{list-style:none;padding:0;position:relative}
.section{position:relative;padding-left:1.35rem}.long>.section{content-visibility:auto;contain-intrinsic-size:auto 3rem}
.section::before{content:"";position:absolute;left:.3rem;top:0;bottom:0;width:1px;background:var(--line)}
.section::after{content:"";position:absolute;left:0;top:1rem;width:.65rem;height:.65rem;border-radius:50%;background:var(--card);border:2px solid var(--tone,var(--soft))}
.section.stage::after{background:var(--tone,var(--soft));border-color:var(--tone,var(--soft))}
.section summary,.section .summary{display:flex;align-items:baseline;gap:.2rem .7rem}
.section>details>summary,.section>.summary{padding:.6rem 1.6rem .6rem 0;flex-wrap:wrap;--mid:1.35rem}
.step{font-weight:600;white-space:nowrap}.stage.good>details>summary .step,.stage.bad>details>summary .step{color:var(--tone)}
.gist{color:var(--soft);flex:1 1 12rem;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
details[open]>summary>.gist{visibility:hidden}.section.stage details[open]>summary>.gist{visibility:visible}
.entries{padding:.1rem 0 .9rem}.entries>*+*{margin-top:.35rem}
.said{padding:.1rem 0 .25rem;max-width:46rem}
.item{border:1px solid var(--line);border-radius:9px;background:var(--card)}
.item>summary,div.item{display:flex;align-items:baseline;gap:.1rem .6rem;padding:.38rem 1.8rem .38rem .7rem;flex-wrap:wrap;--mid:1.15rem}.item>summary::after{right:.7rem}
.item>.body{padding:.2rem .7rem .7rem}.item .title{min-width:0;flex:1 1 9rem}.item .note{flex:none;max-width:100%}.item .note.long{flex:1 0 100%;padding-left:1.7rem}
.icon{flex:none;width:1.1rem;text-align:center;font-family:var(--mono);font-weight:700;color:var(--tone,var(--soft))}
.bad-text{color:var(--bad)}
.event{font-size:.88rem;padding:.3rem .7rem;border-radius:8px;background:var(--tone-bg,var(--mute-bg));color:var(--tone,var(--soft))}
.gap{padding:.7rem 1.35rem;color:var(--soft);font-style:italic}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:1.5rem}
figcaption{font-size:.82rem;color:var(--soft);margin-bottom:.35rem;min-height:3.2em}.keys{display:block}
.key::before{content:"";display:inline-block;width:.6rem;height:.6rem;border-radius:2px;margin-right:.3rem;background:var(--accent)}.key.cached::before{background:var(--accent2)}.key.cached{margin-left:.6rem}
svg{display:block;width:100%;height:auto}
svg text{font:12px var(--sans);fill:var(--soft)}.grid{stroke:var(--line);stroke-width:1}
.fresh,.out{fill:var(--accent)}.cached{fill:var(--accent2)}.area{fill:var(--accent);opacity:.13}.line{fill:none;stroke:var(--accent);stroke-width:2;stroke-linejoin:round}
.limits{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.9rem 1.6rem}
.limits dt{color:var(--soft);font-size:.78rem}.limits dd{font-weight:600;font-variant-numeric:tabular-nums}.of{color:var(--soft);font-weight:400}
.meter{height:4px;margin-top:.3rem;border-radius:2px;overflow:hidden}.track{fill:var(--mute-bg)}.fill{fill:var(--accent)}.high .fill{fill:var(--warning)}
.rows>div{display:grid;grid-template-columns:9.5rem 1fr;gap:.5rem;padding:.28rem 0;border-top:1px solid var(--line)}.rows>div:first-child{border-top:0}.rows dt{color:var(--soft);font-size:.85rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}.scroll{overflow-x:auto}th,td{text-align:left;padding:.42rem .9rem .42rem 0;border-top:1px solid var(--line);vertical-align:baseline}th{color:var(--soft);font-size:.8rem;font-weight:600;border-top:0;white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap;overflow-wrap:normal}tr>:last-child{padding-right:0}
.outcomes{margin-top:1.2rem}.bar{height:.6rem;border-radius:99px;overflow:hidden}.bar rect{fill:var(--tone)}
.legend{display:flex;flex-wrap:wrap;gap:.4rem .5rem;margin-top:.7rem;list-style:none;padding:0}
footer{color:var(--soft);font-size:.8rem;margin-top:1.5rem;text-align:center}
@media (max-width:38rem){.stack thead{position:absolute;clip-path:inset(50%)}.stack tr{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .9rem;padding:.7rem 0;border-top:1px solid var(--line)}.stack tbody tr:first-child{border-top:0}
.stack td{border:0;padding:0}.stack td:first-child{flex:1 1 50%;font-weight:600}.stack td:first-child:has(+td.n){flex-basis:100%}.stack td.t{flex:1 0 100%;color:var(--soft)}.stack td.n{color:var(--soft);font-size:.82rem}.stack td.n:empty{display:none}.stack td.n::before{content:attr(data-h) " "}
.page{padding:.75rem .75rem 2rem}.verdict,.card,.banner{padding:1rem;border-radius:12px}h1{font-size:1.6rem}.tags{margin-left:0;width:100%}
.tiles{grid-template-columns:repeat(2,1fr)}.check .note{min-width:0}.check .name{flex-basis:100%}.rows>div{grid-template-columns:1fr;gap:0}
.gist{flex-basis:100%;order:3}details[open]>summary>.gist{display:none}.section.stage details[open]>summary>.gist{display:block}pre{max-height:20rem;font-size:.8em}}
@media print{body{background:none}.card,.verdict{box-shadow:none;break-inside:avoid-page}nav{display:none}pre{max-height:none;white-space:pre-wrap}.long>.section{content-visibility:visible}}
`;
