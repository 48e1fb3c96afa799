import {render} from 'preact';
import {live} from './live';
import {Page} from './page';
import {followLinks} from './router';
import {applyTheme} from './theme';
import './views.css';

applyTheme();
followLinks();
live.start();
render(<Page />, document.getElementById('page')!);
